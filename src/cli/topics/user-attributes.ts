// The flags for the attributes of a user; `users create` and `users set` share them.
import { Flags } from '../oclif.js'

export const attributeFlags = {
  external: Flags.boolean({ allowNo: true, description: 'the user sees only those internal projects they belong to' }),
  'can-create-group': Flags.boolean({ allowNo: true, description: 'the user may create groups' }),
  'projects-limit': Flags.integer({ min: 0, max: 2_147_483_647, description: 'how many projects the user may own' }),
  bio: Flags.string({ description: 'a few words about the user' }),
  location: Flags.string({ description: 'the place where the user lives or works' }),
  organization: Flags.string({ description: 'the company or institution of the user' }),
  'website-url': Flags.string({ description: "the user's web page" }),
  messenger: Flags.string({ description: "the user's account in a messenger" }),
  'professional-network': Flags.string({ description: "the user's account in a professional network" }),
  microblog: Flags.string({ description: "the user's account in a microblog" }),
  provider: Flags.string({ dependsOn: ['extern-uid'], description: 'another directory with this user, such as ldap' }),
  'extern-uid': Flags.string({ dependsOn: ['provider'], description: "the user's id in that directory" })
}

type Values = { readonly [flag: string]: string | number | boolean | undefined }

/** The given flags as attributes of the API: `--website-url` becomes `website_url`. Flags not given are left out. */
export function attributesOf(flags: Values, names: readonly string[]): Record<string, string | number | boolean> {
  const attributes: Record<string, string | number | boolean> = {}
  for (const name of names) {
    const value = flags[name]
    if (value !== undefined) attributes[name.replaceAll('-', '_')] = value
  }
  return attributes
}
