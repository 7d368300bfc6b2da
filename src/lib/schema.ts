// Small additions to TypeBox that several schemas share. Every value has a description, which the OpenAPI document
// shows. A schema with a title is a component of the document, and a class with that name in generated clients.
import { type Static, type TSchema, Type } from './type.js'

/** A value or null. It uses `nullable` instead of a union, because the serialiser tries the branches of a union one by one. */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}

/** Returns a schema with its meaning in this place: `described(User, 'who wrote it')`. */
export function described<T extends TSchema>(schema: T, meaning: string) {
  // The description of a titled schema applies to all places.
  return Type.Unsafe<Static<T>>({ ...schema, [('title' in schema ? 'x-meaning' : 'description') as string]: meaning })
}

export const Text = (description: string, limits: object = {}) => Type.String({ ...limits, description })
/** Text of printable ASCII, for a column that contains no other characters: comparing it with others is a database error. */
export const PlainCharacters = (description: string, limits: object = {}) =>
  Text(description, { ...limits, pattern: '^[\\x20-\\x7e]*$' })
export const Integer = (description: string, limits: object = {}) => Type.Integer({ ...limits, description })
export const Flag = (description: string) => Type.Boolean({ description })

/** One of several texts, in a response. `Type.Enum` is for input: the serialiser would accept any value for it. */
export const OneOf = <T extends string>(values: readonly T[], title: string, description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], title, description })

/** An ISO 8601 date-time; it serialises a Date. */
const DateTime = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' })
export const Moment = (description: string) => described(DateTime, description)

/** The id of a record in a path or parameter. A number that no record can have is valid: the response is then "not found". */
export const IdOf = (what: string) => Integer(`the id of ${what}`)

/** Bytes that a route sends unchanged, and their type. */
export const Bytes = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) } }
})

/** Text that a route sends unchanged. */
export const PlainText = (description: string) => ({
  description,
  content: { 'text/plain': { schema: Type.Unsafe<unknown>({ type: 'string' }) } }
})

/** The `page` and `per_page` of a list. */
export const Paging = {
  page: Type.Optional(Integer('the page, from 1; default 1')),
  per_page: Type.Optional(Integer('items per page; default 20, at most 100'))
}

/** A project in a path: an id, or NAMESPACE/PROJECT. The router does not accept a longer part of a path. */
export const projectParam = {
  id: Text('the id of the project, or its path such as `diaspora%2Fdiaspora`', { minLength: 1, maxLength: 1024 })
}
export const ProjectParams = Type.Object(projectParam)

/** A user in a path. It is text, because anything other than a number gets the same response as an unknown id. */
export const userParam = { id: Text('the id of the user', { maxLength: 255 }) }
export const NumberedUserParams = Type.Object(userParam)

/** A group in a path: an id or a path. */
export const groupParam = { id: Text('the id of the group, or its path', { minLength: 1, maxLength: 1024 }) }
export const GroupParams = Type.Object(groupParam)
