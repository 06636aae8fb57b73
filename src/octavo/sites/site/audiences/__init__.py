"""Audiences of sites that are not public: share links, authenticated visitors, and their claims."""
