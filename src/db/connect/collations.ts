// How the database compares text. Identifiers compare exactly: different accents, emoji, case or trailing spaces make a
// different identifier, in conditions as in unique keys. Where the case of a name does not matter, a generated column
// `NAME_key` contains the name in lower case, and statements compare `NAME_key = lower(?)`. Prose, which lists are
// sorted by, has a separate collation. test/db/connect/collations.test.ts compares this file with the schema.

/**
 * The exact collation: MariaDB runs the text of the first comment, MySQL (from 8.0.17) the text of the second. utf8mb4_bin, which
 * both have, ignores trailing spaces. Values of statements have the same collation as columns: otherwise the database does not
 * see that `queue = ?` fixes the order by `queue`, and every claim of jobs sorts and locks all of them.
 */
export const EXACT_COLLATION = '/*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */'

/** The collation of prose. MariaDB and MySQL both have it. Unlike utf8mb4_unicode_ci, it distinguishes emoji. */
export const PROSE_COLLATION = 'utf8mb4_unicode_520_ci'

/** The columns with prose. All other text columns contain identifiers, or are never used to sort or find rows. */
export const PROSE: readonly string[] = ['users.name', 'namespaces.name', 'projects.name']
