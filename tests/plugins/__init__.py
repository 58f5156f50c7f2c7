"""The example of a plug-in, as its reader would build, install and break it."""
