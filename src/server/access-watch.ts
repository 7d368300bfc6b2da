// A clone takes long. Access is checked when it begins. This watch checks again while the clone runs, so that it ends soon
// after the project is removed or hidden, or the user is blocked, is removed or loses the membership, in any process.
import type { Actor } from '../access/actor.js'
import { may } from '../access/authorize.js'
import { isActiveUser } from '../areas/people/users/users.queries.js'
import { findProject } from '../areas/projects/projects/projects.queries.js'
import { log } from '../log.js'

/** Most clones are over by then, and cost nothing. A check takes two statements. */
const LOOK_MS = 2000

/** Calls `cut` when the actor may no longer read the repository of the project. Returns the function that ends the watch. */
export function watchAccess(actor: Actor, project: { readonly id: number }, cut: () => void): () => void {
  let looking = false
  const look = async () => {
    if (looking) return
    looking = true
    try {
      if (await mayStillRead(actor, project.id)) return
      log().info(
        { project: project.id, user: actor.user?.id, deployKey: actor.deployKey },
        'a fetch was ended: the user may no longer read the project'
      )
      cut()
    } catch {
      // The database is unavailable: the next check asks again.
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK_MS)
  return () => clearInterval(timer)
}

async function mayStillRead(actor: Actor, projectId: number): Promise<boolean> {
  const [project, active] = await Promise.all([
    findProject(projectId, actor),
    actor.user === null || isActiveUser(actor.user.id)
  ])
  if (project !== undefined && project.id === actor.buildOf) return true
  return active && project !== undefined && may(actor, 'repository.read', project)
}
