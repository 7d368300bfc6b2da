// The flags for the attributes of a user; `users create` and `users set` share them.
import { Flags } from '../oclif.js'

export const attributeFlags = {
  external: Flags.boolean({
    allowNo: true,
    description: 'the user sees only the internal projects they are a member of'
  }),
  'can-create-group': Flags.boolean({ allowNo: true, description: 'the user may create groups' }),
  'projects-limit': Flags.integer({
    min: 0,
    max: 2_147_483_647,
    description: 'maximum number of projects the user may own'
  }),
  bio: Flags.string({ description: 'a few words about the user' }),
  location: Flags.string({ description: 'where the user lives or works' }),
  organization: Flags.string({ description: 'the company or institution of the user' }),
  'website-url': Flags.string({ description: "the user's web page" }),
  messenger: Flags.string({ description: "the user's account in a messenger" }),
  'professional-network': Flags.string({ description: "the user's account in a professional network" }),
  microblog: Flags.string({ description: "the user's account in a microblog" }),
  provider: Flags.string({
    dependsOn: ['extern-uid'],
    description: 'external directory that has this user, such as ldap'
  }),
  'extern-uid': Flags.string({ dependsOn: ['provider'], description: "the user's id in that directory" })
}

type Values = { readonly [flag: string]: string | number | boolean | undefined }

/** Returns the given flags as attributes of the API: `--website-url` becomes `website_url`. */
export function attributesOf(flags: Values, names: readonly string[]): Record<string, string | number | boolean> {
  const attributes: Record<string, string | number | boolean> = {}
  for (const name of names) {
    const value = flags[name]
    if (value !== undefined) attributes[name.replaceAll('-', '_')] = value
  }
  return attributes
}
