// Every route of the API is described well enough for people to use the document, in generated clients and on its page.
// The test names everything that a new route lacks.

import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { pageHeaders } from '../../src/server/openapi/answers.js'
import { routesOf } from '../access/route-list.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

interface Schema {
  readonly $ref?: string
  readonly type?: string | string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: Schema
}

type Content = { readonly [type: string]: { readonly schema: Schema } }

interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: object
  readonly content?: Content
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly deprecated?: boolean
  readonly security?: readonly object[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: { readonly [status: string]: Response }
}

interface Document {
  readonly openapi: string
  readonly info: { readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema }
    readonly responses: { readonly [name: string]: Response }
  }
}

const app = await testApp(t)
const text = (await app.nobody.get('/openapi.json')).body
const document = JSON.parse(text) as Document
const { schemas } = document.components
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, method, path, ...operation }))
)
type Named = (typeof operations)[number]

/** The names of the operations that lack something. */
const lacking = (has: (operation: Named) => unknown) => operations.filter(it => !has(it)).map(({ name }) => name)

t.test('every route of the API is an operation', async t => {
  const routes = routesOf(app.fastify)
    .filter(({ method, path }) => path.startsWith('/api/v3/') && method !== 'HEAD' && !path.endsWith('openapi.json'))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
  t.same(operations.map(({ name }) => name).sort(), routes.sort())
})

/** Paths whose last word says everything: nothing is sent with them. */
const ACTIONS =
  /\/(block|unblock|redeliver|retry|reset|enable|cancel|stop|cancel_merge_when_build_succeeds|erase|keep|play|pause|resume|archive|unarchive|unprotect|star|subscription|todo|reset_time_estimate|reset_spent_time|access_requests|triggers|\{forked_from_id\}|projects\/\{project_id\})$/
/** The same for words that also have operations with a body. */
const RUNS = /^post .*\/(sync|mirror\/pull|mirror\/pull\/hook)$/
/** The body of an upload is a form with a file, which the description explains. */
const UPLOADS = /\/uploads$/

t.test('every operation has the parameters of its path, and a body where it needs one', async t => {
  for (const { name, method, path, parameters = [], requestBody } of operations) {
    const inPath = parameters.filter(parameter => parameter.in === 'path')
    t.same(
      inPath.map(parameter => parameter.name).sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter).sort(),
      name
    )
    t.ok(inPath.every(({ required }) => required))
    const isAction = ACTIONS.test(path) || RUNS.test(name)
    const takesBody = (method === 'post' || method === 'put') && !isAction && !UPLOADS.test(path)
    t.equal(requestBody !== undefined, takesBody, `${name} and its body`)
  }
})

t.test('every operation has a unique name, a summary, a description and an explained tag', async t => {
  const names = /^[a-z]+([A-Z][a-z]+)+$/
  t.same(
    lacking(({ operationId }) => names.test(operationId)),
    []
  )
  const ids = operations.map(({ operationId }) => operationId)
  t.same(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
    'names are unique: give one of the routes an operationId'
  )
  t.same(
    lacking(({ summary }) => /^[A-Z][^.]{5,80}$/.test(summary ?? '')),
    [],
    'summaries are short'
  )
  t.same(
    lacking(({ description }) => /^[A-Z`].*\.$/s.test(description ?? '')),
    [],
    'descriptions are sentences'
  )
  const explained = document.tags.filter(({ description }) => description).map(({ name }) => name)
  t.same(
    lacking(({ tags }) => tags?.length === 1 && tags.every(tag => explained.includes(tag))),
    [],
    'every operation has one tag: explain it in src/server/openapi/about.ts'
  )
})

t.test('every operation describes who may call it, and fails as described', async t => {
  const optional = [{}, { privateToken: [] }, { privateTokenInQuery: [] }, { bearer: [] }, { session: [] }]
  const find = (id: string) => operations.find(({ operationId }) => operationId === id)
  t.same(find('createSession')?.security, [], 'no credentials')
  t.same(find('getProject')?.security, optional, 'credentials are optional')
  t.equal(find('createProject')?.security, undefined, 'the credentials of the document')
  t.match(find('listAuditEvents')?.description, /^Newest first\.\n\nFor administrators\.$/)
  t.match(
    find('createProjectFile')?.description,
    /^For members of the project with the level Developer or higher\. Archived projects refuse it\.$/
  )
  const statuses = (id: string) => Object.keys(find(id)?.responses ?? {})
  t.same(statuses('createSession'), ['201', '400', '401', '403', '413', '415', '429'])
  t.same(statuses('getProject'), ['200', '304', '400', '401', '404', '414'])
  t.same(statuses('createUser'), ['201', '400', '401', '403', '409', '413', '415'])
  t.same(
    lacking(({ parameters = [], responses }) => !parameters.some(it => it.in === 'path') || responses['404']),
    []
  )
  t.same(
    lacking(({ responses, security }) => responses['401'] || security?.length === 0),
    []
  )
})

t.test('every parameter and every attribute is described', async t => {
  for (const { name, parameters = [] } of operations) {
    for (const parameter of parameters) t.ok(parameter.description, `${name}: ${parameter.name}`)
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (!schema.enum) t.ok(schema.description, name)
    for (const at of undescribed(schema, name)) t.fail(`${at} has no description`)
  }
})

/** The attributes below a schema that have no description. A reference counts as described. */
function undescribed(schema: Schema, path: string): string[] {
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = `${path}.${name}`
    return [...(inner.description || inner.$ref ? [] : [at]), ...undescribed(inner, at)]
  })
  return [...properties, ...(schema.items ? undescribed(schema.items, `${path}[]`) : [])]
}

t.test('bodies and answers are components, so that generated clients have names for them', async t => {
  const isNamed = ({ $ref, type, items, anyOf }: Schema): boolean =>
    $ref !== undefined ||
    (items !== undefined && isNamed(items)) ||
    anyOf?.every(isNamed) === true ||
    !['object', 'array', undefined].includes(String(type))
  const contents = ({ requestBody, responses }: Operation) =>
    [requestBody, ...Object.values(responses)].flatMap(holder => Object.values(holder?.content ?? {}))
  t.same(
    lacking(operation => contents(operation).every(({ schema }) => isNamed(schema))),
    [],
    'give the schema a title'
  )
  t.same(
    lacking(({ responses }) => Object.entries(responses).every(([status, it]) => Number(status) < 300 || it.$ref)),
    []
  )
  t.same(
    lacking(({ responses }) => responses['204'] ?? ['200', '201', '202'].find(status => responses[status]?.content)),
    [],
    'the response has a description'
  )
})

const COMMITS = 'get /api/v3/projects/{id}/repository/commits'

t.test('paginated lists have the headers of pages, and others do not', async t => {
  for (const { name, parameters = [], responses } of operations) {
    // Commits have pages without headers: counting them takes as long as reading them.
    const paged = parameters.some(parameter => parameter.name === 'per_page') && name !== COMMITS
    t.same(Object.keys(responses['200']?.headers ?? {}), paged ? Object.keys(pageHeaders) : [], name)
  }
})

t.test('responses other than JSON declare their type', async t => {
  const typesOf = ({ responses }: Operation) =>
    Object.keys(responses['200']?.content ?? responses['201']?.content ?? responses['202']?.content ?? {})
  const raw = operations.filter(
    operation => !operation.responses['204'] && typesOf(operation)[0] !== 'application/json'
  )
  t.same(
    raw.map(operation => [operation.operationId, ...typesOf(operation)]),
    [
      ['getProjectBlob', 'text/plain'],
      ['getProjectCommitBlob', 'text/plain'],
      ['getProjectRawBlob', 'text/plain'],
      ['downloadProjectArchive', 'application/gzip', 'application/x-bzip2', 'application/x-tar', 'application/zip'],
      [
        'downloadProjectArchiveOfFormat',
        'application/gzip',
        'application/x-bzip2',
        'application/x-tar',
        'application/zip'
      ],
      ['getProjectBuildTrace', 'text/plain'],
      ['downloadProjectBuildArtifacts', 'application/zip'],
      ['downloadProjectRefArtifacts', 'application/zip'],
      ['getProjectSnippetRaw', 'text/plain'],
      ['getSnippetRaw', 'text/plain']
    ]
  )
})

t.test('null is a type, and lists in a query are written as the server reads them', async t => {
  t.same(schemas.Build?.properties?.commit?.anyOf, [{ $ref: '#/components/schemas/BuildCommit' }, { type: 'null' }])
  t.same(schemas.Build?.properties?.started_at?.type, ['string', 'null'])
  const builds = operations.find(({ operationId }) => operationId === 'listProjectBuilds')
  t.same(builds?.parameters?.find(({ name }) => name === 'scope[]')?.schema.items, {
    $ref: '#/components/schemas/BuildStatus'
  })
})

t.test('two validators find no fault in the document', async t => {
  // The official schema of OpenAPI 3.1, and the rules of a separate linter.
  const byOfficialSchema = await new Validator().validate(JSON.parse(text))
  t.same(byOfficialSchema.errors, undefined)
  // The requirement has paths such as /projects/search/:query besides /projects/:id/users; the server prefers fixed words.
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } })
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    []
  )
})

t.test('regular expressions work in every language', async t => {
  const patterns = new Set<string>()
  JSON.parse(text, (key, value) =>
    key === 'pattern' && typeof value === 'string' ? patterns.add(value) && value : value
  )
  t.ok(patterns.size > 0)
  for (const pattern of patterns) {
    t.doesNotThrow(() => new RegExp(pattern), pattern)
    // Unicode classes, lookbehind and named groups: Python, Java, Go and others write these differently or do not support them.
    t.notMatch(pattern, /\\[pPkuX]|\(\?(?!:)/)
  }
})

t.test('the document is made at the first request, and then kept', async t => {
  t.equal(app.fastify.swagger(), app.fastify.swagger())
})
