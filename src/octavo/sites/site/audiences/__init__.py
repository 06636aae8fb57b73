"""Audiences of sites that aren't public: share links, authenticated visitors, and their claims."""
