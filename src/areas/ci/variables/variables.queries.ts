import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'

export interface VariableRow {
  readonly id: number
  readonly name: string
  readonly value_encrypted: Buffer
}

const SELECT = 'select v.id, v.name, v.value_encrypted from variables v where v.project_id = ?'

/** Returns a page of the variables of a project, by their names. */
export async function listVariables(projectId: number, query: PageRequest): Promise<Page<VariableRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from variables where project_id = ?', [projectId]),
    rows<VariableRow>(`${SELECT} order by v.name ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns all variables of a project, for a build. */
export const allVariables = (projectId: number) => rows<VariableRow>(`${SELECT} order by v.name`, [projectId])

export const findVariable = (projectId: number, name: string): Promise<VariableRow | undefined> =>
  row<VariableRow>(`${SELECT} and v.name = ?`, [projectId, name])

/** Finds a variable of a project. Throws NotFound. */
export async function requireVariable(projectId: number, name: string): Promise<VariableRow> {
  const found = await findVariable(projectId, name)
  if (!found) throw new NotFound('Variable')
  return found
}
