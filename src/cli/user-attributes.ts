// The attributes of a user as flags, the same for `users create` and `users set`.
import { Flags } from '@oclif/core'

export const attributeFlags = {
  external: Flags.boolean({ allowNo: true, description: 'see internal projects as strangers do' }),
  'can-create-group': Flags.boolean({ allowNo: true, description: 'may create groups' }),
  'projects-limit': Flags.integer({ min: 0, max: 2_147_483_647, description: 'how many projects of their own' }),
  bio: Flags.string({ description: 'a few words about the user' }),
  location: Flags.string({ description: 'where the user is' }),
  organization: Flags.string({ description: 'the company or the like' }),
  'website-url': Flags.string({ description: 'a page of the user' }),
  messenger: Flags.string({ description: 'an account of a messenger' }),
  'professional-network': Flags.string({ description: 'an account of a network for work' }),
  microblog: Flags.string({ description: 'an account of a microblog' }),
  provider: Flags.string({ dependsOn: ['extern-uid'], description: 'who else knows the user, such as ldap' }),
  'extern-uid': Flags.string({ dependsOn: ['provider'], description: "the user's name at that provider" })
}

type Values = { readonly [flag: string]: string | number | boolean | undefined }

/** Flags as the attributes of the API: `--website-url` is `website_url`. What was not given is left out. */
export function attributesOf(flags: Values, names: readonly string[]): Record<string, string | number | boolean> {
  const attributes: Record<string, string | number | boolean> = {}
  for (const name of names) {
    const value = flags[name]
    if (value !== undefined) attributes[name.replaceAll('-', '_')] = value
  }
  return attributes
}
