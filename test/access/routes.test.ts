// Every route has an expectation beside the tests of its resource, and every expectation has a route.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'
import { AUDITED, isWrite } from './audited.js'
import type { ResourceAccess } from './resource.js'
import { routesOf } from './route-list.js'

const tests = fileURLToPath(new URL('..', import.meta.url))

function filesNamed(pattern: RegExp, folder = tests): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesNamed(pattern, path)
    return pattern.test(entry.name) ? [path] : []
  })
}

async function expectedRoutes(): Promise<string[]> {
  const routes: string[] = []
  for (const path of filesNamed(/\.access\.js$/)) {
    const { access } = (await import(pathToFileURL(path).href)) as { access: ResourceAccess }
    for (const kind of [access.instance, access.project, access.group]) routes.push(...Object.keys(kind ?? {}))
  }
  return routes
}

t.test('every route has one expectation, and every expectation a route', async t => {
  const { fastify } = await testApp(t)
  const registered = routesOf(fastify).map(({ method, path }) => `${method} ${path}`)
  const expected = (await expectedRoutes()).flatMap(route =>
    route.startsWith('GET ') ? [route, route.replace('GET', 'HEAD')] : [route]
  )
  t.ok(expected.length > 50)
  t.same([...expected].sort(), [...registered].sort())
})

t.test('every route that writes says what it leaves in the audit', async t => {
  const { fastify } = await testApp(t)
  const writing = routesOf(fastify)
    .map(({ method, path }) => `${method} ${path}`)
    .filter(isWrite)
  t.same(Object.keys(AUDITED).sort(), writing.sort())
})

t.test('a test of its area uses every expectation', async t => {
  const folders = (pattern: RegExp) => [...new Set(filesNamed(pattern).map(path => join(path, '..')))].sort()
  t.same(folders(/\.access\.js$/), folders(/^access\.test\.js$/))
})
