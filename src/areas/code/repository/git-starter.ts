// Server and worker use much memory, which makes starting processes slow, so a small helper program starts git for them.
import { startBySmallProgram } from '../../../git/repository/processes.js'
import { socketPath } from '../../../home.js'
import { log } from '../../../log.js'

/** Lets a small program start git for this process. Call it before git is used; `closeGitProcesses` ends it. */
export const useGitStarter = (): void =>
  startBySmallProgram({
    socket: socketPath(`start-${process.pid}.sock`),
    onFailure: error =>
      log().warn({ error: error.message }, 'the small program that starts git failed, and git is started without it')
  })
