// What a token may be used for ("Tokens, scopes, OAuth").

export const SCOPES = ['api', 'read_user'] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of credentials that are no limited token: a private token, a password, a session, a command. */
export const EVERYTHING: readonly Scope[] = ['api']

/** The scopes in a stored text, in which spaces separate them; a scope that this version does not know is left out. */
export const scopesIn = (text: string): Scope[] => SCOPES.filter(scope => text.split(' ').includes(scope))
