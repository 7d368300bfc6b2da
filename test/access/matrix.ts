// Calls every route of some resources as every actor, on every kind of project or group, and compares the answers.
import type { InjectOptions } from 'fastify'
import { rows } from '../../src/db/sql.js'
import type { TestGroup, TestProject } from '../helpers/factory.js'
import t, { type Test } from '../helpers/tap.js'
import { ACTORS, type ActorName, INDIRECT, type IndirectName, type Statuses } from './actors.js'
import { AUDITED, isWrite } from './audited.js'
import { GROUPS, type GroupKind, PROJECTS, type ProjectKind } from './expectations.js'
import type { ResourceAccess, Specimen } from './resource.js'
import { type Asking, makeWorld, type World } from './world.js'

type Actor = ActorName | IndirectName

/** Runs the matrix for the routes of one area. `fill` adds to each project what its routes read. */
export function testAccess(
  resources: readonly ResourceAccess[],
  fill: (project: TestProject) => Promise<void> = async () => undefined
): void {
  let made: Promise<World> | undefined
  const theWorld = () => {
    made ??= makeWorld(fill)
    return made
  }
  for (const { instance = {}, project = {}, group = {} } of resources) {
    for (const [route, access] of Object.entries(instance)) {
      t.test(route, async t => {
        const world = await theWorld()
        left.set(route, new Set())
        for (const asked of withHead(route)) {
          const ask = (actor: Actor) => askOne(asked, actor, { world, specimen: access.specimen })
          t.same(await answers(ACTORS, ask), access.expected, asked)
        }
        checkAudit(t, route)
      })
    }
    for (const [route, access] of Object.entries(project)) {
      t.test(route, async t => {
        const world = await theWorld()
        left.set(route, new Set())
        for (const kind of PROJECTS) {
          const subject = { project: world.projects[kind] }
          // A HEAD is its GET without the body: one kind of project shows that.
          for (const asked of kind === 'private' ? withHead(route) : [route]) {
            const ask = (actor: Actor) => askOne(asked, actor, { world, specimen: access.specimen, ...subject })
            const expected = withIndirect(access.expected[kind], kind === 'grouped')
            t.same(await answers([...ACTORS, ...INDIRECT], ask), expected, `${asked} on ${kind}`)
          }
        }
        checkAudit(t, route)
      })
    }
    for (const [route, access] of Object.entries(group)) {
      t.test(route, async t => {
        const world = await theWorld()
        left.set(route, new Set())
        for (const kind of GROUPS) {
          for (const asked of withHead(route)) {
            const subject = { group: world.groups[kind as GroupKind] }
            const ask = (actor: Actor) => askOne(asked, actor, { world, specimen: access.specimen, ...subject })
            t.same(
              await answers([...ACTORS, ...INDIRECT], ask),
              withIndirect(access.expected[kind], false),
              `${asked} on ${kind}`
            )
          }
        }
        checkAudit(t, route)
      })
    }
  }
}

/** The actions that the successful requests of each route left in the audit; `nothing` when there was no row at all. */
const left = new Map<string, Set<string>>()

/** Compares them with the table. A request that changes nothing leaves no row, but the first one of each kind does. */
function checkAudit(t: Test, route: string): void {
  const found = left.get(route) ?? new Set<string>()
  const expected = AUDITED[route]
  if (!isWrite(route) || found.size === 0 || expected === undefined) return
  const actions = [...found].filter(action => action !== 'nothing')
  if ('none' in expected) t.same(actions, [], `${route} leaves no row in the audit: ${expected.none}`)
  else t.ok(actions.length > 0 && actions.every(action => expected.includes(action)), `${route} left ${actions}`)
}

const withHead = (route: string) => (route.startsWith('GET ') ? [route, route.replace('GET', 'HEAD')] : [route])

/** Adds the actors of the group's project: two have a level only there, and the expired membership does not count. */
const withIndirect = (expected: Statuses, grouped: boolean) => ({
  ...expected,
  groupDeveloper: grouped ? expected.developer : expected.stranger,
  sharedReporter: grouped ? expected.reporter : expected.stranger,
  expired: expected.stranger
})

/** Sends the requests one after another, because a write may need the one before it. */
async function answers(actors: readonly Actor[], ask: (actor: Actor) => Promise<number>) {
  const found: Record<string, number> = {}
  for (const actor of actors) found[actor] = await ask(actor)
  return found
}

interface Request {
  readonly world: World
  readonly specimen?: (asking: Asking) => Promise<Specimen> | Specimen
  readonly project?: TestProject
  readonly group?: TestGroup
}

let count = 0

async function askOne(route: string, actor: Actor, { world, specimen, project, group }: Request): Promise<number> {
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
    // Guesses are counted by address: a matrix of many routes has more wrong tokens than one address may send.
    remoteAddress: `127.0.0.${1 + ((count >> 9) % 250)}`,
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
    if (value === undefined) throw new Error(`${pattern}: the specimen has no ${name}`)
    return String(value)
  })
  return url.replace('*', '/no-such-page')
}

const stringsOf = (query: { readonly [name: string]: string | number }) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

function credentials(url: string, token: string | undefined, unique: string): Record<string, string> {
  if (token === undefined) return {}
  if (!url.includes('.git/')) return { 'private-token': token }
  // Another name each time, because the server slows down many guesses under one name.
  return { authorization: `Basic ${Buffer.from(`git-${unique}:${token}`).toString('base64')}` }
}

export type { ProjectKind }
