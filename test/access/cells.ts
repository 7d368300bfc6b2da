// The matrix as a list: one cell for each actor on each kind of project or group.
import type { FastifyInstance } from 'fastify'
import { configOf } from '../helpers/route-configs.js'
import { ACTORS, INDIRECT, type Statuses } from './actors.js'
import { GROUPS, PROJECTS } from './expectations.js'
import type { ResourceAccess } from './resource.js'
import { type AnyActor, type Subject, type Verdict, verdictOf } from './verdict.js'

export interface Cell {
  readonly actor: AnyActor
  readonly subject: Subject
  readonly expected: number
}

export interface RouteCells {
  readonly route: string
  readonly cells: readonly Cell[]
  readonly specimen: NonNullable<ResourceAccess['project']>[string]['specimen']
}

const INSTANCE: Subject = {}

export function cellsOf({ instance = {}, project = {}, group = {} }: ResourceAccess): RouteCells[] {
  const ofInstance = Object.entries(instance).map(([route, { expected, specimen }]) => ({
    route,
    specimen,
    cells: ACTORS.map(actor => ({ actor, subject: INSTANCE, expected: expected[actor] }))
  }))
  const ofProjects = Object.entries(project).map(([route, { expected, specimen }]) => ({
    route,
    specimen,
    cells: PROJECTS.flatMap(kind => subjectCells({ project: kind }, expected[kind]))
  }))
  const ofGroups = Object.entries(group).map(([route, { expected, specimen }]) => ({
    route,
    specimen,
    cells: GROUPS.flatMap(kind => subjectCells({ group: kind }, expected[kind]))
  }))
  return [...ofInstance, ...ofProjects, ...ofGroups]
}

function subjectCells(subject: Subject, expected: Statuses): Cell[] {
  const ofAll = withIndirect(expected, subject.project === 'grouped')
  return [...ACTORS, ...INDIRECT].map(actor => ({ actor, subject, expected: ofAll[actor] }))
}

/** Adds the actors of the group's project: two have a level only there, and an expired membership does not count. */
const withIndirect = (expected: Statuses, grouped: boolean): { readonly [Name in AnyActor]: number } => ({
  ...expected,
  groupDeveloper: grouped ? expected.developer : expected.stranger,
  sharedReporter: grouped ? expected.reporter : expected.stranger,
  expired: expected.stranger
})

/** A refusal by the table has a reason; a refusal by a rule may depend on the actor. */
function outcomeOf({ actor, expected }: Cell, { refused, why }: Verdict): string {
  return refused === undefined && expected >= 400
    ? `${why}, and the rule returns ${expected} to ${actor}`
    : `${expected}: ${why}`
}

/**
 * Returns cells that show each outcome of a route once: authorize.test.ts compares the permission table with all cells.
 * Returns all cells of a route outside of the table if it is about a project, because its own rules choose between the
 * actors there.
 */
export function distinctCells(app: FastifyInstance, { route, cells }: RouteCells): readonly Cell[] {
  const config = configOf(app, route)
  if (config.public && cells.some(({ subject }) => subject.project)) return cells
  const seen = new Set<string>()
  return cells.filter(cell => {
    const outcome = config.public ? String(cell.expected) : outcomeOf(cell, verdictOf(config, cell.actor, cell.subject))
    return !seen.has(outcome) && seen.add(outcome)
  })
}
