import { projectParam, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { CONTENT_TYPES, FORMAT_NAMES } from './archives.js'

const format = Type.Enum(FORMAT_NAMES, {
  title: 'ArchiveFormat',
  description: 'the format; `tgz` and `gz` are `tar.gz`, and `tbz`, `tbz2`, `tb2` and `bz2` are `tar.bz2`'
})
const sha = Type.Optional(Text('a branch, a tag or the id of a commit; default the default branch', { maxLength: 255 }))

export const ArchiveQuery = Type.Object({ sha, format: Type.Optional(format) })
export const NamedArchiveQuery = Type.Object({ sha })
export const NamedArchiveParams = Type.Object({ ...projectParam, format })

const bytes = { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) }

export const Archive = {
  description: 'The files of the commit in one folder, as `git archive` packs them.',
  content: Object.fromEntries(Object.values(CONTENT_TYPES).map(type => [type, bytes]))
}
