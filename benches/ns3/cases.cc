// The benchmark's cases on ns-3 (3.37 as Debian packages it), for comparison.
//
// A star is a router with point-to-point links: IP forwarding stands for the switch, the device's
// drop-tail queue of a port for its memory, without a queueing discipline above it, except for DCTCP,
// where RED with both thresholds at 65 packets marks. A hop is a packet that crossed a link, data or
// acknowledgement, as each device counts what it receives.
// Prints a line of JSON: the case, hops, CPU seconds of Simulator::Run, hops per CPU second.
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

uint64_t g_hops = 0;

void
CountHop(Ptr<const Packet>)
{
    ++g_hops;
}

double
CpuSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Case
{
    std::string name;
    std::string congestion;
    std::string rate;
    std::string delay;
    uint32_t mtu;
    uint32_t senders;
    uint32_t stars;
    uint64_t bytes; // of each flow; 0: endless
    std::string portBuffer;
    bool marking;
    double loss; // of a packet, on each link
};

const std::vector<Case> CASES = {
    {"incast-1500", "ns3::TcpLinuxReno", "10Gbps", "1us", 1500, 23, 1, 8000000, "524288B", false, 0},
    {"incast-9000", "ns3::TcpLinuxReno", "10Gbps", "1us", 9000, 23, 1, 8000000, "524288B", false, 0},
    {"dctcp-2to1-25g", "ns3::TcpDctcp", "25Gbps", "1us", 1500, 2, 1, 0, "4194304B", true, 0},
    {"stars-100", "ns3::TcpLinuxReno", "10Gbps", "1us", 1500, 23, 100, 0, "524288B", false, 0},
    {"long-fat", "ns3::TcpCubic", "10Gbps", "25ms", 1500, 1, 1, 0, "268435456B", false, 2.5e-7},
};

void
Configure(const Case& c)
{
    const uint32_t payload = c.mtu - 52; // IP 20, TCP 20, timestamps 12
    const uint32_t window = c.name == "long-fat" ? 1U << 30 : 4U << 20;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(c.congestion));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    if (c.marking)
    {
        Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
        Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
        Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(c.mtu));
        Config::SetDefault("ns3::RedQueueDisc::MaxSize", StringValue("2666p"));
        Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
        Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(65));
        Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(65));
        Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", StringValue(c.rate));
    }
}

// Joins a node to a switch: the switch's port has the case's buffer. Answers with the node's address.
Ipv4Address
Join(const Case& c, Ptr<Node> node, Ptr<Node> port, const std::string& rate, Ipv4AddressHelper& net)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetDeviceAttribute("Mtu", UintegerValue(c.mtu));
    link.SetChannelAttribute("Delay", StringValue(c.delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(c.portBuffer));
    NetDeviceContainer devices = link.Install(node, port);
    TrafficControlHelper disciplines;
    if (c.marking)
    {
        disciplines.SetRootQueueDisc("ns3::RedQueueDisc");
        // The discipline holds the queue, so the device below it holds next to nothing.
        Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(devices.Get(1));
        device->GetQueue()->SetMaxSize(QueueSize("2p"));
        disciplines.Install(devices.Get(1));
    }
    Ipv4InterfaceContainer addresses = net.Assign(devices);
    net.NewNetwork();
    if (!c.marking)
    {
        disciplines.Uninstall(devices);
    }
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        devices.Get(i)->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountHop));
        if (c.loss > 0)
        {
            Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(c.loss);
            devices.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        }
    }
    return addresses.GetAddress(0);
}

void
Flow(const Case& c, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, double start)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(to).Start(Seconds(0));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    source.SetAttribute("MaxBytes", UintegerValue(c.bytes));
    source.SetAttribute("SendSize", UintegerValue(65536));
    source.Install(from).Start(Seconds(start));
}

int
Run(const Case& c, double seconds)
{
    Configure(c);
    NodeContainer core;
    core.Create(1);
    NodeContainer switches;
    switches.Create(c.stars);
    NodeContainer hosts;
    const uint32_t each = c.senders + 1;
    hosts.Create(c.stars * each);
    InternetStackHelper stack;
    stack.Install(core);
    stack.Install(switches);
    stack.Install(hosts);
    Ipv4AddressHelper net("10.0.0.0", "255.255.255.252");
    std::vector<Ipv4Address> addresses;
    for (uint32_t s = 0; s < c.stars; ++s)
    {
        for (uint32_t h = 0; h < each; ++h)
        {
            addresses.push_back(Join(c, hosts.Get(s * each + h), switches.Get(s), c.rate, net));
        }
        if (c.stars > 1)
        {
            Join(c, switches.Get(s), core.Get(0), "40Gbps", net);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Ptr<UniformRandomVariable> starts = CreateObject<UniformRandomVariable>();
    // A tenth of the senders cross the core to the next star, as in our scenario.
    const uint32_t leave = c.stars > 1 ? (c.senders + 5) / 10 : 0;
    for (uint32_t s = 0; s < c.stars; ++s)
    {
        for (uint32_t h = 1; h < each; ++h)
        {
            const uint32_t to = (h < each - leave ? s : (s + 1) % c.stars) * each;
            const uint16_t port = static_cast<uint16_t>(5000 + h);
            Flow(c, hosts.Get(s * each + h), hosts.Get(to), addresses[to], port,
                 starts->GetValue(0, 1e-4));
        }
    }
    Simulator::Stop(Seconds(seconds));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - before;
    std::printf("{\"case\": \"%s\", \"hops\": %llu, \"cpu_s\": %.4f, \"hops_per_cpu_s\": %.0f}\n",
                c.name.c_str(), static_cast<unsigned long long>(g_hops), cpu,
                static_cast<double>(g_hops) / cpu);
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "incast-1500";
    double seconds = 1;
    CommandLine arguments(__FILE__);
    arguments.AddValue("case", "Name of the case", name);
    arguments.AddValue("seconds", "Simulated seconds", seconds);
    arguments.Parse(argc, argv);
    for (const Case& c : CASES)
    {
        if (c.name == name)
        {
            return Run(c, seconds);
        }
    }
    std::fprintf(stderr, "there is no case %s\n", name.c_str());
    return 2;
}
