mod basics;
mod frto;
mod host;
mod rack;
mod script;
mod settings;
mod tlp;
