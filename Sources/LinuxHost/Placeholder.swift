// Room for the first file of this module.
