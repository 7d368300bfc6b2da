// Writes the OpenAPI document of this version for `gitstead openapi`.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../dist/src/config.js'

// The document is the same on every machine: it must not depend on a home of this machine.
for (const name of Object.keys(process.env)) if (name.startsWith('GITSTEAD_')) delete process.env[name]
loadConfig({ home: join(tmpdir(), 'gitstead-no-home') })
const { writeOpenApiDocument } = await import('../dist/src/cli/reference/openapi-document.js')
await writeOpenApiDocument()
