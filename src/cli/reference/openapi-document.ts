// The OpenAPI document. Making it from the routes takes two seconds, so the build writes it once. Only the URL differs between
// appliances.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publicUrl, root } from '../../config.js'

const built = () => join(root, 'dist/src/openapi.json')

/** Returns the document of this version, with the URL of this appliance. */
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
    // A build for a single test omits it.
    return undefined
  }
}

/** Makes the document from the routes. */
async function makeOpenApiDocument(): Promise<object> {
  const { buildApp } = await import('../../server/app.js')
  const app = await buildApp()
  await app.ready()
  const document = app.swagger()
  await app.close()
  return document
}
