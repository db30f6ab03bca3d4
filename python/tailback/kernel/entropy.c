/*
 * Put before os_getrandom() of arch/um/os-Linux/util.c: with entropy_seed= on its command line a
 * kernel takes its entropy from a generator with that seed, so that ports, initial sequence
 * numbers and hashes repeat. SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); not for secrets.
 */
static unsigned long long entropy_seed;

static ssize_t seeded_entropy(unsigned char *buf, size_t len)
{
	unsigned long long word = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		if (i % 8 == 0) {
			entropy_seed += 0x9e3779b97f4a7c15ULL;
			word = entropy_seed;
			word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
			word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
			word ^= word >> 31;
		}
		buf[i] = word >> (8 * (i % 8));
	}
	return len;
}

static int __init entropy_seed_param(char *value, int *add)
{
	*add = 0;
	entropy_seed = strtoull(value, NULL, 10);
	return 0;
}

__uml_setup("entropy_seed=", entropy_seed_param,
"entropy_seed=<decimal number>\n"
"    Take entropy from a generator with this seed instead of the host.\n\n");

