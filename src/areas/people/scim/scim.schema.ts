import { Integer, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const attributes = {
  attributes: Type.Optional(Text('only these attributes, separated by commas', { maxLength: 2048 })),
  excludedAttributes: Type.Optional(Text('all but these attributes, separated by commas', { maxLength: 2048 }))
}

export const ResourceQuery = Type.Object(attributes)

/** What a list contains, and in which order. */
const part = {
  filter: Type.Optional(Text('a filter of RFC 7644')),
  startIndex: Type.Optional(Integer('the number of the first resource, from 1', { maximum: 1_000_000_000 })),
  count: Type.Optional(Integer('resources in the answer, at most 200')),
  sortBy: Type.Optional(Text('an attribute', { maxLength: 255 })),
  sortOrder: Type.Optional(Text('ascending or descending', { maxLength: 20 }))
}

export const ListQuery = Type.Object({ ...attributes, ...part })

const Names = Type.Array(Text('an attribute', { maxLength: 255 }), { maxItems: 100 })

/** The query of a list in a body (RFC 7644, 3.4.3): its filter may be longer than a URL, and no log has it. */
export const Search = Type.Object(
  {
    attributes: Type.Optional(Names),
    excludedAttributes: Type.Optional(Names),
    ...part
  },
  { additionalProperties: true }
)
export type Search = Static<typeof Search>

export const IdParams = Type.Object({ id: Text('the id of the resource', { maxLength: 255 }) })

/** The rules check what a resource contains (patch.ts). */
export const Resource = Type.Unsafe<unknown>({ type: 'object' })

export const Patch = Type.Object(
  {
    Operations: Type.Array(
      Type.Object(
        {
          op: Text('add, replace or remove', { maxLength: 20 }),
          path: Type.Optional(Text('what to change')),
          value: Type.Optional(Type.Unknown())
        },
        { additionalProperties: true }
      ),
      { maxItems: 1000 }
    )
  },
  { additionalProperties: true }
)
export type Patch = Static<typeof Patch>

/** `runBulk` checks the number of operations, because too many are refused with 413. */
const BulkOperation = Type.Object(
  {
    method: Text('POST, PUT, PATCH or DELETE', { maxLength: 10 }),
    path: Text('such as /Users or /Groups/7', { maxLength: 300 }),
    bulkId: Type.Optional(Text('the name of a new resource in this request', { maxLength: 255 })),
    version: Type.Optional(Text('the version that the resource must have', { maxLength: 255 })),
    data: Type.Optional(Type.Unknown())
  },
  { additionalProperties: true }
)
export type BulkOperation = Static<typeof BulkOperation>

export const Bulk = Type.Object(
  {
    failOnErrors: Type.Optional(Integer('failures after which the rest does not run', { minimum: 1 })),
    Operations: Type.Array(BulkOperation)
  },
  { additionalProperties: true }
)
export type Bulk = Static<typeof Bulk>
