mod basics;
mod frto;
mod rack;
mod script;
mod tlp;
