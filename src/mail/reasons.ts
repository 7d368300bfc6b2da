/**
 * Why somebody gets a mail, behind "You get this mail because". A reason that is missing here stands there as it is. The
 * header X-Gitstead-Reason has the name, for filters.
 */
const REASONS: { readonly [name: string]: string } = {
  test: 'somebody asked for a test',
  digest: 'more mails were for you in this hour than one address gets',
  security: 'this concerns the safety of your account'
}

export const reasonText = (name: string): string => (Object.hasOwn(REASONS, name) ? (REASONS[name] as string) : name)
