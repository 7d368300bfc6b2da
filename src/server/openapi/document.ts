// The last step of the document: what @fastify/swagger made of the routes, with components in place of repetitions.
import { type ErrorStatus, errorResponse, errorResponses, errorSchemas, isErrorStatus, pageHeaders } from './answers.js'
import { type Components, referTo, type Schema } from './components.js'

// The document is finished in place: its records are written to.
interface Content {
  [type: string]: { schema: Schema }
}

interface Operation {
  parameters?: { name: string; in: string; description?: string; schema: Schema }[]
  requestBody?: { required: boolean; content: Content }
  responses: { [status: string]: { headers?: object; content?: Content; $ref?: string } }
}

export interface Document {
  paths: { [path: string]: { [method: string]: Operation } }
  components: { [kind: string]: unknown }
}

export function finishDocument(document: Document): Document {
  const components: Components = new Map(Object.entries(errorSchemas))
  const operations = Object.values(document.paths).flatMap(path => Object.values(path))
  for (const operation of operations) finishOperation(operation, components)
  const schemas = Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)))
  document.components = { ...document.components, schemas, responses: usedBy(operations), headers: pageHeaders }
  return document
}

/** The failures that operations refer to. */
function usedBy(operations: readonly Operation[]) {
  const refs = new Set(operations.flatMap(({ responses }) => Object.values(responses).map(({ $ref }) => $ref)))
  return Object.fromEntries(
    Object.entries(errorResponses).filter(([name]) => refs.has(`#/components/responses/${name}`))
  )
}

function finishOperation({ parameters = [], requestBody, responses }: Operation, components: Components): void {
  for (const parameter of parameters) {
    // Twice: pages show that of the parameter, generators take that of the schema.
    parameter.schema = { ...referTo(components, parameter.schema), description: parameter.description }
    // As lib/form.ts reads it: of a name that is repeated without brackets only the last value counts.
    if (parameter.in === 'query' && parameter.schema.type === 'array') parameter.name += '[]'
  }
  if (requestBody) {
    const { required = [] } = Object.values(requestBody.content)[0]?.schema ?? {}
    requestBody.required = (required as string[]).length > 0
    referContent(requestBody.content, components)
  }
  for (const [status, response] of Object.entries(responses)) {
    if (isErrorStatus(status))
      responses[status] = errorResponse(Number(status) as ErrorStatus, requestBody !== undefined)
    else finishResponse(response, components)
  }
}

function finishResponse(response: Operation['responses'][string], components: Components): void {
  if (response.content) referContent(response.content, components)
  if (!response.headers) return
  const names = Object.keys(response.headers)
  response.headers = Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

function referContent(content: Content, components: Components): void {
  for (const media of Object.values(content)) media.schema = referTo(components, media.schema)
}
