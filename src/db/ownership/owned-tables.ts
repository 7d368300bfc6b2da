// Interprets the table of ownership for removal, restore and backup: which tables belong to an owner, and in which order.
import { type Link, OWNERSHIP, type Owner, type Restoring, TABLES, type TableName } from './ownership.js'

/** Returns how the restore of one project inserts the rows of a table, or null when it does not restore them. */
export function restoringOf(table: TableName): Restoring | null {
  const { restore = {} } = OWNERSHIP[table]
  return restore === false ? null : restore
}

/** A link together with the table that contains its column. */
export interface OwnedTable {
  readonly table: TableName
  readonly link: Link
}

/** Returns whether the removal of the owner also removes the rows. */
export const goesWith = ({ fate }: Link): boolean => fate === 'deleted' || fate === 'erased'

export const ownersOf = (table: TableName): readonly Link[] => OWNERSHIP[table].owners ?? []

/** All tables, each after the tables that own its rows. Inserts use this order, deletions the reverse. */
const OWNERS_FIRST = inOrder()

function inOrder(): readonly TableName[] {
  const order = new Set<TableName>()
  const begun = new Set<TableName>()
  const visit = (table: TableName) => {
    if (begun.has(table)) return
    begun.add(table)
    for (const owner of ownersOf(table)) if (goesWith(owner)) visit(owner.to)
    order.add(table)
  }
  TABLES.forEach(visit)
  return [...order]
}

/** Returns all links to an owner, in the order of deletion: the rows that belong to a table come before the table. */
export const linksTo = (owner: TableName): readonly OwnedTable[] =>
  [...OWNERS_FIRST].reverse().flatMap(table =>
    ownersOf(table)
      .filter(({ to }) => to === owner)
      .map(found => ({ table, link: found }))
  )

/** Returns the table of the owner and all tables that it owns directly or indirectly, in the order of insertion. */
export function tablesOf(owner: Owner): readonly TableName[] {
  const found = new Set<TableName>([owner])
  for (const table of OWNERS_FIRST) {
    if (ownersOf(table).some(each => goesWith(each) && found.has(each.to))) found.add(table)
  }
  return [...found]
}

/** Returns the tables whose rows backups leave out, sorted by name. */
export const leftOutOfBackups = (): readonly TableName[] =>
  TABLES.filter(table => OWNERSHIP[table].backup === false).sort()

/** Returns all columns that are encrypted with the key in secrets.json. */
export const encryptedColumns = (): readonly (readonly [table: TableName, column: string])[] =>
  TABLES.flatMap(table => (OWNERSHIP[table].encrypted ?? []).map(column => [table, column] as const))
