// Every route has an expectation next to the tests of its resource, and every expectation has a route.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { testApp } from '../helpers/app.js'
import { configOf } from '../helpers/route-configs.js'
import t from '../helpers/tap.js'
import { AUDITED, isWrite } from './audited.js'
import { allAccess, filesNamed } from './files.js'
import type { ResourceAccess } from './resource.js'
import { routesOf } from './route-list.js'

async function expectedRoutes(): Promise<string[]> {
  const kinds = (await allAccess()).flatMap(({ instance = {}, project = {}, group = {} }) => [instance, project, group])
  return kinds.flatMap(Object.keys)
}

/** Pages have the actions of the API. test/server/pages/ holds them to its answers, with sessions, because they ignore tokens. */
const isPage = (fastify: FastifyInstance, route: string) => configOf(fastify, route).page === true

t.test('every route has one expectation, and every expectation a route', async t => {
  const { fastify } = await testApp(t)
  const registered = routesOf(fastify)
    .map(({ method, path }) => `${method} ${path}`)
    .filter(route => !isPage(fastify, route))
  const expected = (await expectedRoutes()).flatMap(route =>
    route.startsWith('GET ') ? [route, route.replace('GET', 'HEAD')] : [route]
  )
  t.ok(expected.length > 50)
  t.same(
    registered.filter(route => !expected.includes(route)),
    [],
    'each route has a line in an .access.ts file of its area'
  )
  t.same(
    expected.filter(route => !registered.includes(route)),
    [],
    'each expectation has a route'
  )
  t.same(expected.length, new Set(expected).size, 'no route has two expectations')
})

t.test('every route that writes has a line in AUDITED', async t => {
  const { fastify } = await testApp(t)
  const writing = routesOf(fastify)
    .map(({ method, path }) => `${method} ${path}`)
    .filter(route => isWrite(route) && !isPage(fastify, route))
  t.same(Object.keys(AUDITED).sort(), writing.sort())
})

/** Returns the last word of a path: `participants` of `/projects/:id/issues/:issue_id/participants`. */
const lastWord = (path: string) =>
  path
    .replace(/\.:format$/, '')
    .split('/')
    .findLast(part => /^\w/.test(part)) ?? ''

t.test('a test of its area calls every route of the API, in addition to the matrix', async t => {
  const tests = filesNamed(/^areas\/.*\.js$/).filter(path => !/access(\.test)?\.js$/.test(path))
  const unasked: string[] = []
  for (const path of filesNamed(/^areas\/.*\.access\.js$/)) {
    const { access } = (await import(pathToFileURL(path).href)) as { access: ResourceAccess }
    const folder = join(path, '../')
    const texts = tests.filter(name => name.startsWith(folder)).map(name => readFileSync(name, 'utf8'))
    for (const route of Object.values(access)
      .flatMap(Object.keys)
      .filter(name => name.includes(' /api/v3/'))) {
      const asked = new RegExp(`[/'"\`]${lastWord(route)}\\b`)
      if (!texts.some(text => asked.test(text)))
        unasked.push(`${route}: call it in a test in ${folder.split('/dist/')[1]}`)
    }
  }
  t.same(unasked, [])
})

t.test('a test of its area uses every expectation', async t => {
  const folders = (pattern: RegExp) => [...new Set(filesNamed(pattern).map(path => join(path, '..')))].sort()
  t.same(folders(/\.access\.js$/), folders(/\/access\.test\.js$/))
})
