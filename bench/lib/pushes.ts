// Pushes into an appliance like a client with a token.
import type { Prepared } from './appliance.js'
import { authorization, runGit } from './git.js'
import type { ProjectRecord } from './rest.js'

/** Pushes all refs of a repository into an empty project. */
export async function pushTo(appliance: Prepared, project: ProjectRecord, source: string): Promise<void> {
  const { admin, url } = appliance
  const target = `${url}/${project.path_with_namespace}.git`
  await runGit([...authorization(admin.username, admin.token), '-C', source, 'push', '--quiet', '--mirror', target])
}
