// Finishes the document that @fastify/swagger made from the routes: puts components in place of repetitions.
import { errorResponse, errorResponses, errorSchemas, pageHeaderRefs, pageHeaders } from './answers.js'
import { type Components, referTo, type Schema } from './components.js'
import type { Facts } from './operation.js'

// The document is changed in place, so its records are writable.
interface Content {
  [type: string]: { schema: Schema }
}

interface Response {
  description?: string
  headers?: object
  content?: Content
  $ref?: string
}

interface Operation {
  'x-facts'?: Facts
  parameters?: { name: string; in: string; description?: string; schema: Schema }[]
  requestBody?: { required: boolean; content: Content }
  responses: { [status: string]: Response }
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

function finishOperation(operation: Operation, components: Components): void {
  const { parameters = [], requestBody, responses, 'x-facts': facts } = operation
  delete operation['x-facts']
  for (const parameter of parameters) {
    // Twice: pages show the description of the parameter, generators use that of the schema.
    parameter.schema = { ...referTo(components, parameter.schema), description: parameter.description }
    // As lib/form.ts reads it: when a name is repeated without brackets, only the last value counts.
    if (parameter.in === 'query' && parameter.schema.type === 'array') parameter.name += '[]'
  }
  if (requestBody) {
    const { required = [] } = Object.values(requestBody.content)[0]?.schema ?? {}
    requestBody.required = (required as string[]).length > 0
    referContent(requestBody.content, components)
  }
  for (const response of Object.values(responses)) finishResponse(response, facts?.paged === true, components)
  for (const status of facts?.failures ?? []) responses[status] = errorResponse(status)
}

function finishResponse(response: Response, paged: boolean, components: Components): void {
  const media = Object.values(response.content ?? {})
  if (media.some(({ schema }) => schema.type === 'array')) {
    response.description = paged ? 'A page of the list.' : 'The whole list.'
  }
  if (paged) response.headers = pageHeaderRefs
  referContent(response.content, components)
}

function referContent(content: Content = {}, components: Components): void {
  for (const media of Object.values(content)) media.schema = referTo(components, media.schema)
}
