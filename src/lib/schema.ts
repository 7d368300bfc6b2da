// Small additions to TypeBox that several schemas share. Every value says what it means: the OpenAPI document shows it. A
// schema with a title is a component of the document, and a class of that name in generated clients.
import { type Static, type TSchema, Type } from './type.js'

/**
 * A value or null. It uses `nullable` instead of a union, because the serialiser tries the branches of a union one by
 * one.
 */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}

/** A schema with what it means in this place: `described(User, 'who wrote it')`. */
export function described<T extends TSchema>(schema: T, meaning: string) {
  // The description of a titled schema tells what it is in all places.
  return Type.Unsafe<Static<T>>({ ...schema, [('title' in schema ? 'x-meaning' : 'description') as string]: meaning })
}

export const Text = (description: string, limits: object = {}) => Type.String({ ...limits, description })
/** Text of plain characters, for a column that holds no others: comparing it with others is an error of the database. */
export const PlainCharacters = (description: string, limits: object = {}) =>
  Text(description, { ...limits, pattern: '^[\\x20-\\x7e]*$' })
export const Integer = (description: string, limits: object = {}) => Type.Integer({ ...limits, description })
export const Flag = (description: string) => Type.Boolean({ description })

/** One of some texts, in an answer. `Type.Enum` is for input: the serialiser would take it for anything at all. */
export const OneOf = <T extends string>(values: readonly T[], title: string, description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], title, description })

/** An ISO 8601 date-time; it serialises a Date. */
export const DateTime = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' })
export const Moment = (description: string) => described(DateTime, description)

/**
 * A record's number in a path or parameter. A number that no record can have is valid: the answer is then "not found".
 */
export const IdOf = (what: string) => Integer(`the id of ${what}`)

/** Bytes that a route sends as they are, and their type. */
export const Bytes = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: Type.Unsafe<unknown>({ type: 'string', format: 'binary' }) } }
})

/** Text that a route sends as it is. */
export const PlainText = (description: string) => ({
  description,
  content: { 'text/plain': { schema: Type.Unsafe<unknown>({ type: 'string' }) } }
})

/** The `page` and `per_page` of a list. */
export const Paging = {
  page: Type.Optional(Integer('the page, from 1; default 1')),
  per_page: Type.Optional(Integer('items of a page; default 20, at most 100'))
}

/** A project in a path: a number, or NAMESPACE/PROJECT. The router takes no longer part of a path. */
export const projectParam = {
  id: Text('the id of the project, or its path such as `diaspora%2Fdiaspora`', { minLength: 1, maxLength: 1024 })
}
export const ProjectParams = Type.Object(projectParam)

/** A user in a path. It is text, because anything but a number gets the same answer as the number of no user. */
export const userParam = { id: Text('the id of the user', { maxLength: 255 }) }
export const NumberedUserParams = Type.Object(userParam)

/** A group in a path: a number, or its path. */
export const groupParam = { id: Text('the id of the group, or its path', { minLength: 1, maxLength: 1024 }) }
export const GroupParams = Type.Object(groupParam)
