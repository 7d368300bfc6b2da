import { Flag, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { keyOf, type License } from './licenses.js'

export const LicenseTemplate = Type.Object(
  {
    key: Text('the key, which requests use'),
    name: Text('the display name'),
    nickname: Nullable(Text('a shorter name')),
    featured: Flag('whether many projects use it'),
    popular: Flag('the same as `featured`: clients use both names'),
    html_url: Text('the URL of a page that explains it'),
    source_url: Text('the URL of its text'),
    description: Text('the description of the license'),
    conditions: Type.Array(Type.String(), { description: 'the conditions of the license' }),
    permissions: Type.Array(Type.String(), { description: 'the permissions of the license' }),
    limitations: Type.Array(Type.String(), { description: 'the limitations of the license' }),
    content: Text('the whole text')
  },
  { title: 'LicenseTemplate', description: 'The text of a license.' }
)
export type LicenseTemplate = Static<typeof LicenseTemplate>

export function viewLicense(license: License): LicenseTemplate {
  const key = keyOf(license)
  return {
    key,
    name: license.title,
    nickname: license.nickname,
    featured: license.featured,
    popular: license.featured,
    // The package's own URL uses the SPDX spelling of the key, for which that site has no page.
    html_url: `https://choosealicense.com/licenses/${key}/`,
    source_url: license.urls.opensource,
    description: license.description,
    conditions: [...license.conditions],
    permissions: [...license.permissions],
    limitations: [...license.limitations],
    content: license.body
  }
}
