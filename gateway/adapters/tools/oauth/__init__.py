"""OAuth 2.1 as a client: a person signs in to a source at its authorization server, and the gateway holds the tokens.

    documents    the five documents that the other sides send, as far as they are read
    challenge    what a resource says when it refuses (RFC 6750, RFC 9728)
    places       which addresses may be asked in the name of one source
    exchange     one request to such an address, with every quantity capped
    discovery    from a source's address to its authorization server (RFC 9728, RFC 8414, OpenID Connect Discovery)
    flow         registration, the authorization request, its answer, renewal and revocation (RFC 7591, 7636, 8707, 9207, 7009)
    tokens       what a sign-in gives, and one source's tokens while the gateway runs
    host         the SignInHost over all of it

Everything that an authorization server or a resource sends is hostile until it was checked here. Nothing redirects: an answer
that leads elsewhere is refused.
"""
