import { rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { Conflict, NotFound } from '../../../errors.js'

export interface VariableRow {
  readonly id: number
  readonly name: string
  readonly value_encrypted: Buffer
  /** Null while nobody has chosen: then the value decides. MASKED_AS_BEFORE until somebody changes an old variable. */
  readonly masked: number | null
  readonly protected: number
  readonly environment_scope: string
}

const SELECT = `select v.id, v.name, v.value_encrypted, v.masked, v.protected, v.environment_scope
  from variables v where v.project_id = ?`
const ORDER = 'order by v.name, v.environment_scope'

/** Returns a page of the variables of a project, by their names and scopes. */
export async function listVariables(projectId: number, query: PageRequest): Promise<Page<VariableRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal('select count(*) as total from variables where project_id = ?', [projectId]),
    rows<VariableRow>(`${SELECT} ${ORDER} ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns all variables of a project. */
export const allVariables = (projectId: number) => rows<VariableRow>(`${SELECT} ${ORDER}`, [projectId])

/** Finds a variable of a project by its key, and by its scope if one is given. Throws Conflict when there are several. */
export async function findVariable(projectId: number, name: string, scope?: string): Promise<VariableRow | undefined> {
  const [condition, values] = scope === undefined ? ['', []] : ['and v.environment_scope = ?', [scope]]
  const [found, other] = await rows<VariableRow>(`${SELECT} and v.name = ? ${condition} ${ORDER} limit 2`, [
    projectId,
    name,
    ...values
  ])
  if (!other) return found
  throw new Conflict(
    `${name} has several environment scopes: choose one (filter[environment_scope] in the API, --scope on the command line)`
  )
}

/** Finds a variable of a project. Throws NotFound, and Conflict when several scopes have the key. */
export async function requireVariable(projectId: number, name: string, scope?: string): Promise<VariableRow> {
  const found = await findVariable(projectId, name, scope)
  if (!found) throw new NotFound('Variable')
  return found
}
