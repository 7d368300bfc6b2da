// No value of a query, a path or a body returns 500, and no stored value makes a later list fail. Every parameter of every
// operation in the OpenAPI document gets the extreme values of its type.
import type { InjectOptions } from 'fastify'
import { mapBounded } from '../../src/lib/bounded.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly items?: Schema
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required?: boolean
  readonly schema: Schema
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } }
}

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Schema } }
}

/** A number that JSON can write and that no computer can hold. */
const BEYOND = '@1e999@'
const TEXTS = [
  '',
  ' ',
  'é',
  '😀\u0000',
  '\u2028%\'"\\',
  'x'.repeat(70_000),
  '9999-12-31T23:59:59-12:00',
  '0000-00-00',
  '1e999'
]
const NUMBERS = [0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 63), 1e300, 999_999_999_999_999, BEYOND]
const OTHERS = [null, [], [[]], {}, true]
const LISTS = [[''], ['é'], ['x'.repeat(70_000)], [BEYOND], [null], [{}]]

const app = await testApp(t)
const admin = await app.make.admin()
const document = app.fastify.swagger() as unknown as Document
const project = await app.make.project()
await app.make.file(project, 'README.md', 'x')
const someone = await app.make.user()

const resolved = (schema: Schema): Schema => {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (document.components.schemas[name] ?? {})
}

function extremes(schema: Schema): readonly unknown[] {
  const types = [resolved(schema).type ?? []].flat()
  if (types.includes('array')) return [...LISTS, ...OTHERS, 'é']
  if (types.includes('object')) return [...OTHERS, 'é', BEYOND]
  if (types.includes('integer') || types.includes('number')) return [...NUMBERS, ...OTHERS, 'é']
  return [...TEXTS, ...OTHERS, '\ud800', BEYOND]
}

/** An ordinary value that fits, so that the request gets past the validation. */
function plain(name: string, schema: Schema): unknown {
  const { type, enum: values } = resolved(schema)
  const types = [type ?? []].flat()
  if (values) return values.find(value => value !== null)
  if (/password/.test(name)) return 'a long password'
  if (/email/.test(name)) return 'new@example.org'
  if (/url/.test(name)) return 'http://203.0.113.1/'
  if (/ref|branch/.test(name)) return 'master'
  if (/path/.test(name)) return 'README.md'
  if (types.includes('array')) return []
  if (types.includes('object')) return {}
  if (types.includes('integer') || types.includes('number')) return 1
  if (types.includes('boolean')) return false
  return 'plain'
}

const inPath = (path: string, name: string) => {
  if (name === 'sha') return 'master'
  if (name !== 'id') return '1'
  if (path.startsWith('/api/v3/projects')) return String(project.id)
  return path.startsWith('/api/v3/users') ? String(someone.id) : '1'
}

interface Shot extends InjectOptions {
  readonly about: string
}

function* shotsAt(path: string, method: string, { parameters = [], requestBody }: Operation): Generator<Shot> {
  const schema = resolved(Object.values(requestBody?.content ?? {})[0]?.schema ?? {})
  const names = Object.keys(schema.properties ?? {})
  const urlWith = (name?: string, value?: unknown) => {
    const filled = parameters
      .filter(parameter => parameter.in === 'path')
      .reduce((url, parameter) => {
        const part = parameter.name === name ? textOf(value) : inPath(path, parameter.name)
        return url.replace(`{${parameter.name}}`, encodeURIComponent(part || 'x'))
      }, path)
    const query = parameters
      .filter(parameter => parameter.in === 'query' && (parameter.required || parameter.name === name))
      .map(parameter => [parameter.name, parameter.name === name ? value : plain(parameter.name, parameter.schema)])
      .map(([key, given]) => `${key}${Array.isArray(given) ? '[]' : ''}=${encodeURIComponent(textOf(given))}`)
    return `${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`
  }
  const bodyWith = (name?: string, value?: unknown) => {
    const body = Object.fromEntries(
      names
        .filter(key => schema.required?.includes(key) || key === name)
        .map(key => [key, key === name ? value : plain(key, schema.properties?.[key] ?? {})])
    )
    return JSON.stringify(body).replaceAll(`"${BEYOND}"`, '1e999')
  }
  const shot = (about: string, url: string, body?: string): Shot => ({
    about: `${method} ${path} ${about}`,
    method: method.toUpperCase() as 'GET',
    url,
    ...(body !== undefined && { payload: body })
  })
  for (const parameter of parameters) {
    for (const value of extremes(parameter.schema)) {
      // A query can only have texts and lists of texts.
      if (value === '\ud800' || value === null || (typeof value === 'object' && !Array.isArray(value))) continue
      const url = urlWith(parameter.name, value)
      yield shot(`${parameter.name}=${told(value)}`, url, names.length > 0 ? bodyWith() : undefined)
    }
  }
  for (const name of names) {
    for (const value of extremes(schema.properties?.[name] ?? {})) {
      yield shot(`{${name}: ${told(value)}}`, urlWith(), bodyWith(name, value))
    }
  }
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return textOf(value[0] ?? '')
  return value === BEYOND ? '1e999' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
const told = (value: unknown) => JSON.stringify(value).slice(0, 40)

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
)
/** Deletions come last, because the other requests need the records. */
const ORDER = ['get', 'post', 'put', 'delete']

t.test('no extreme value of any parameter returns 500', async t => {
  t.ok(operations.length > 60, 'the operations are found')
  let [fired, reached] = [0, 0]
  for (const verb of ORDER) {
    const failures: string[] = []
    const shots = operations
      .filter(({ method }) => method === verb)
      .flatMap(({ path, method, operation }) => [...shotsAt(path, method, operation)])
    // Concurrent writes with one name would conflict in the database, which another test covers.
    await mapBounded(shots, verb === 'get' ? 8 : 1, async ({ about, ...shot }) => {
      const headers = { 'private-token': admin.privateToken, 'content-type': 'application/json' }
      const res = await app.fastify.inject({ ...shot, headers })
      if (![404, 401, 403].includes(res.statusCode)) reached++
      if (res.statusCode >= 500) failures.push(`${about}: ${res.statusCode} ${res.body}`)
    })
    for (const failure of failures) t.comment(failure)
    t.equal(failures.length, 0, `${shots.length} requests ${verb}: ${failures[0] ?? ''}`)
    fired += shots.length
  }
  t.ok(reached > 2000, `${reached} of ${fired} requests got past the router`)
})

t.test('no stored value breaks a list', async t => {
  for (const { path, method } of operations) {
    if (method !== 'get' || path.includes('{')) continue
    const res = await app.as(admin).inject({ url: `${path}?per_page=100` })
    t.equal(res.statusCode, 200, `${path}: ${res.body.slice(0, 200)}`)
  }
})
