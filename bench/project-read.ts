// Measures GET /projects/:id with the owner's token and without a token, compared with a bare route that answers the same record.
import { type Prepared, withAppliance } from './lib/appliance.js'
import { measureRead } from './lib/bare.js'
import { stopLoad } from './lib/load.js'
import { createProject } from './lib/rest.js'

async function measure(appliance: Prepared): Promise<void> {
  const { id } = await createProject(appliance, 'bench', { public: true, description: 'What this is for' })
  const what = { table: 'projects', path: `/projects/${id}` } as const
  await measureRead(appliance, { ...what, name: 'project read, owner', token: appliance.admin.token })
  await measureRead(appliance, { ...what, name: 'project read, anonymous' })
}

await withAppliance({}, measure)
stopLoad()
