import { type Static, Type } from 'typebox'
import { Nullable } from '../../lib/schema.js'
import { keyOf, type License } from './licenses.js'

export const LicenseTemplate = Type.Object({
  key: Type.String(),
  name: Type.String(),
  nickname: Nullable(Type.String()),
  featured: Type.Boolean(),
  popular: Type.Boolean({ description: 'the same as featured: clients know both names' }),
  html_url: Type.String(),
  source_url: Type.String(),
  description: Type.String(),
  conditions: Type.Array(Type.String()),
  permissions: Type.Array(Type.String()),
  limitations: Type.Array(Type.String()),
  content: Type.String()
})
export type LicenseTemplate = Static<typeof LicenseTemplate>

export function viewLicense(license: License): LicenseTemplate {
  const key = keyOf(license)
  return {
    key,
    name: license.title,
    nickname: license.nickname,
    featured: license.featured,
    popular: license.featured,
    // The package writes the key as in SPDX here, under which that site has no page.
    html_url: `https://choosealicense.com/licenses/${key}/`,
    source_url: license.urls.opensource,
    description: license.description,
    conditions: [...license.conditions],
    permissions: [...license.permissions],
    limitations: [...license.limitations],
    content: license.body
  }
}
