// The OpenAPI document. The build writes it once, as it is the same everywhere but for the URL: to make it from the routes
// takes two seconds.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicUrl, root } from '../../config.js'

const built = () => join(root, 'dist/src/openapi.json')

/** The document of this version, with the URL of this appliance. */
export async function openApiDocument(): Promise<object> {
  return { ...(readBuilt() ?? (await makeOpenApiDocument())), servers: [{ url: publicUrl() }] }
}

/** Writes the document for `openApiDocument`. The build calls it. */
export async function writeOpenApiDocument(): Promise<void> {
  writeFileSync(built(), JSON.stringify(await makeOpenApiDocument()))
}

function readBuilt(): object | undefined {
  try {
    return JSON.parse(readFileSync(built(), 'utf8')) as object
  } catch {
    // A build for one test leaves it out.
    return undefined
  }
}

/** Makes the document from the routes. */
export async function makeOpenApiDocument(): Promise<object> {
  const { buildApp } = await import('../../server/app.js')
  const app = await buildApp()
  await app.ready()
  const document = app.swagger()
  await app.close()
  return document
}
