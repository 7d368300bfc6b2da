// Counts the rows and entries of indexes that the database reads for a piece of work. Unlike times and plans, this number is exact,
// and other tests do not change it.
import { rows } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'

async function readSoFar(): Promise<number> {
  const found = await rows<{ Value: string }>("show session status like 'Handler\\_read\\_%'")
  return found.reduce((sum, { Value }) => sum + Number(Value), 0)
}

/** The work runs in one transaction, and so on one connection, whose numbers are compared. It is rolled back. */
export async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  let read = 0
  const undo = new Error('undo')
  await transact(async () => {
    const [first, second] = [await readSoFar(), await readSoFar()]
    await work()
    // Reading the numbers reads rows as well.
    read = (await readSoFar()) - second - (second - first)
    throw undo
  }).catch(error => {
    if (error !== undo) throw error
  })
  return read
}
