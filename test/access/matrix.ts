// Calls the routes of some resources as the actors, on the kinds of projects or groups, and compares the responses.
import type { InjectOptions } from 'fastify'
import { rows } from '../../src/db/connect/sql.js'
import type { TestGroup, TestProject } from '../helpers/factory.js'
import t, { type Test } from '../helpers/tap.js'
import { AUDITED, isWrite } from './audited.js'
import { type Cell, cellsOf, distinctCells } from './cells.js'
import type { ResourceAccess, Specimen } from './resource.js'
import type { AnyActor, Subject } from './verdict.js'
import { type Asking, makeWorld, type World } from './world.js'

/** Whether every actor calls every kind of project and group: `npm run test:long` does that. */
const FULL = process.env.GITSTEAD_TEST_MATRIX === 'full'

/** Runs the matrix for the routes of one area. `fill` adds the records that the routes read to each project. */
export function testAccess(
  resources: readonly ResourceAccess[],
  fill: (project: TestProject) => Promise<void> = async () => undefined
): void {
  const routes = resources.flatMap(cellsOf)
  let made: Promise<World> | undefined
  for (const { route, cells, specimen } of routes) {
    t.test(route, async t => {
      made ??= makeWorld(fill)
      const world = await made
      left.set(route, new Set())
      const asked = FULL ? cells : distinctCells(world.app.fastify, { route, cells, specimen })
      for (const { subject, ofSubject } of bySubject(asked)) {
        for (const request of withHead(route, subject)) {
          // One after another, because a write may need the one before it.
          const found: Record<string, number> = {}
          for (const { actor } of ofSubject) found[actor] = await askOne(request, actor, { world, specimen, subject })
          const expected = Object.fromEntries(ofSubject.map(({ actor, expected }) => [actor, expected]))
          t.same(found, expected, `${request} ${Object.values(subject).join()}`)
        }
      }
      checkAudit(t, route)
    })
  }
}

function bySubject(cells: readonly Cell[]) {
  const subjects = [...new Set(cells.map(({ subject }) => subject))]
  return subjects.map(subject => ({ subject, ofSubject: cells.filter(cell => cell.subject === subject) }))
}

/** A HEAD is its GET without the body: one kind of project is enough to test it. */
function withHead(route: string, { project = 'private' }: Subject): string[] {
  return route.startsWith('GET ') && project === 'private' ? [route, route.replace('GET', 'HEAD')] : [route]
}

/** The audit actions that the successful requests of each route recorded; `nothing` when there was no row at all. */
const left = new Map<string, Set<string>>()

/** Compares them with the table. A request that changes nothing records no row, but the first one of each kind does. */
function checkAudit(t: Test, route: string): void {
  const found = left.get(route) ?? new Set<string>()
  const expected = AUDITED[route]
  if (!isWrite(route) || found.size === 0 || expected === undefined) return
  const actions = [...found].filter(action => action !== 'nothing')
  if ('none' in expected) t.same(actions, [], `${route} leaves no row in the audit: ${expected.none}`)
  else t.ok(actions.length > 0 && actions.every(action => expected.includes(action)), `${route} left ${actions}`)
}

interface Request {
  readonly world: World
  readonly specimen?: (asking: Asking) => Promise<Specimen> | Specimen
  readonly subject: Subject
}

let count = 0

async function askOne(route: string, actor: AnyActor, { world, specimen, subject: named }: Request): Promise<number> {
  const project = named.project && world.projects[named.project]
  const group = named.group && world.groups[named.group]
  const [method = '', pattern = ''] = route.split(' ')
  const unique = `${actor.toLowerCase()}-${++count}`
  const user = world.users[actor] ?? world.admin
  const subject = { project: project ?? world.projects.private, group: group ?? world.groups.private }
  const made = (await specimen?.({ world, actor, user, unique, ...subject })) ?? {}
  const url = urlOf(pattern, { ...subjectParams(project, group), ...made.params })
  const before = isWrite(route) ? await lastAudited() : 0
  const { statusCode } = await world.app.fastify.inject({
    method: method as NonNullable<InjectOptions['method']>,
    url,
    // Wrong credentials are counted by address, and a matrix of many routes has more of them than one address may send.
    remoteAddress: `127.0.0.${1 + ((count >> 8) % 250)}`,
    headers: { ...made.headers, ...credentials(url, world.tokens[actor], unique) },
    ...(made.query ? { query: stringsOf(made.query) } : {}),
    ...(made.payload === undefined ? {} : { payload: made.payload })
  })
  if (isWrite(route) && statusCode < 300) await collectAudit(route, before)
  return statusCode
}

const lastAudited = async () =>
  (await rows<{ id: number }>('select id from audit_events order by id desc limit 1'))[0]?.id ?? 0

async function collectAudit(route: string, before: number): Promise<void> {
  const found = await rows<{ action: string }>('select action from audit_events where id > ?', [before])
  for (const { action } of found.length > 0 ? found : [{ action: 'nothing' }]) left.get(route)?.add(action)
}

function subjectParams(
  project: TestProject | undefined,
  group: TestGroup | undefined
): { readonly [name: string]: string | number } {
  if (group) return { id: group.id }
  if (!project) return {}
  const [namespace = '', name = ''] = project.path.split('/')
  return { id: project.id, namespace, project: `${name}.git` }
}

function urlOf(pattern: string, params: { readonly [name: string]: string | number }): string {
  const url = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`${pattern}: the specimen lacks ${name}`)
    return String(value)
  })
  return url.replace('*', '/no-such-page')
}

const stringsOf = (query: { readonly [name: string]: string | number }) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

function credentials(url: string, token: string | undefined, unique: string): Record<string, string> {
  if (token === undefined) return {}
  if (!url.includes('.git/')) return { 'private-token': token }
  // Uses another name each time, because the server slows down many guesses under one name.
  return { authorization: `Basic ${Buffer.from(`git-${unique}:${token}`).toString('base64')}` }
}
