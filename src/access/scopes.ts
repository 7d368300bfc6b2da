// What a token gives access to ("Tokens, scopes, OAuth").

export const SCOPES = ['api', 'read_user'] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of credentials without limits: a private token, a password, a session, a command. */
export const EVERYTHING: readonly Scope[] = ['api']

/** Returns the scopes in a stored text, separated by spaces. Leaves out scopes that this version does not know. */
export const scopesIn = (text: string): Scope[] => SCOPES.filter(scope => text.split(' ').includes(scope))
