// How the database compares text. Identifiers compare exactly: accents, emoji, case and spaces at the end make another
// identifier, in conditions as in unique keys. Where the case of a name does not matter, a generated column `NAME_key`
// holds the name in lower case, and statements compare `NAME_key = lower(?)`. Prose, which lists are sorted by, has a
// collation of its own. test/db/connect/collations.test.ts compares this file with the schema.

/**
 * The exact collation: MariaDB runs what stands in the first comment, MySQL (from 8.0.17) what stands in the second. The
 * one that both have, utf8mb4_bin, ignores spaces at the end. Values of statements have the same collation as columns:
 * otherwise the database does not see that `queue = ?` fixes the order by `queue`, and every claim of jobs sorts and locks
 * all of them.
 */
export const EXACT_COLLATION = '/*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */'

/** The collation of prose. MariaDB and MySQL both have it. Unlike utf8mb4_unicode_ci, it can tell emoji apart. */
export const PROSE_COLLATION = 'utf8mb4_unicode_520_ci'

/** The columns with prose. All other columns with text are identifiers, or nothing is sorted or found by them. */
export const PROSE: readonly string[] = ['users.name', 'namespaces.name', 'projects.name']
