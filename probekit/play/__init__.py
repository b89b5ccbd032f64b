"""A live lesson: a page of this machine on which models are asked, ``probekit play``."""
