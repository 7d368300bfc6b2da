import { type Static, Type } from 'typebox'
import { projectParam } from '../../lib/schema.js'

const path = Type.String({ minLength: 1, maxLength: 4096 })
const ref = Type.String({ minLength: 1, maxLength: 255 })

export const ShaParams = Type.Object({ ...projectParam, sha: ref })

export const TreeQuery = Type.Object({
  path: Type.Optional(Type.String({ maxLength: 4096 })),
  ref_name: Type.Optional(Type.String({ maxLength: 255 })),
  recursive: Type.Optional(Type.Boolean())
})

export const BlobQuery = Type.Object({ filepath: path })
export const FileQuery = Type.Object({ file_path: path, ref })

const removal = {
  file_path: path,
  branch_name: ref,
  author_email: Type.Optional(Type.String({ maxLength: 255 })),
  author_name: Type.Optional(Type.String({ maxLength: 255 })),
  commit_message: Type.String({ minLength: 1, maxLength: 1_000_000 })
}

export const FileDeletion = Type.Object(removal)
export const FileBody = Type.Object({
  ...removal,
  encoding: Type.Optional(Type.Enum(['text', 'base64'])),
  content: Type.String()
})

export type FileBody = Static<typeof FileBody>
export type FileDeletion = Static<typeof FileDeletion>
