mod basics;
mod frto;
mod host;
mod rack;
mod script;
mod tlp;
