// Server and worker grow large, so that git is started for them by a small program.
import { startBySmallProgram } from '../../git/processes.js'
import { socketPath } from '../../home.js'
import { log } from '../../log.js'

/** Makes this process start git by a small program. Call it before git is used; `closeGitProcesses` ends it. */
export const useGitStarter = (): void =>
  startBySmallProgram({
    socket: socketPath(`start-${process.pid}.sock`),
    onFailure: error =>
      log().warn({ error: error.message }, 'the small program that starts git failed, and git is started without it')
  })
