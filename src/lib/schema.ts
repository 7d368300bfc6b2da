// Small additions to TypeBox that several schemas share.
import { type Static, type TSchema, Type } from 'typebox'

/**
 * A value or null. It uses `nullable` instead of a union, because the serialiser tries the branches of a union one by
 * one.
 */
export function Nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}

/** An ISO 8601 date-time; it serialises a Date. */
export const DateTime = Type.Unsafe<Date | string>({ type: 'string', format: 'date-time' })

/**
 * A record's number in a path or parameter. A number that no record can have is valid: the answer is then "not found".
 */
export const Id = Type.Integer()

/** The `page` and `per_page` of a list. */
export const Paging = {
  page: Type.Optional(Type.Integer({ description: 'page, from 1; default 1' })),
  per_page: Type.Optional(Type.Integer({ description: 'items of a page; default 20, at most 100' }))
}

/** A project in a path: a number, or NAMESPACE/PROJECT. The router takes no longer part of a path. */
export const projectParam = { id: Type.String({ minLength: 1, maxLength: 1024 }) }
export const ProjectParams = Type.Object(projectParam)

/** A user in a path. It is text, because anything but a number gets the same answer as the number of no user. */
export const userParam = { id: Type.String({ maxLength: 255 }) }
/** The parameters of a path with a user only. */
export const NumberedUserParams = Type.Object(userParam)

/** A group in a path: a number, or its path. */
export const groupParam = { id: Type.String({ minLength: 1, maxLength: 1024 }) }
export const GroupParams = Type.Object(groupParam)
