// Everybody may check a CI file, and the parser blocks all other requests for up to half a second. So the checks run
// one after another with rests for other requests, and clients take turns.
import { TooManyRequests, Unavailable } from '../../../../errors.js'
import { Limiter } from '../../../../lib/limiter.js'
import { currentClient } from '../../../../lib/request-scope.js'

/** The factor of a rest to the check before it. */
const REST = 3
/** Seconds after which a client may retry. */
const AGAIN = 5

const checks = new Limiter({
  capacity: 1,
  queue: {
    capacity: 100,
    perClient: () => 5,
    full: limit =>
      limit === 'perClient'
        ? new TooManyRequests(AGAIN, 'too many checks of CI files from one address are waiting')
        : new Unavailable('Too many checks of CI files are waiting', AGAIN)
  }
})

/** Runs a check when it is its turn. Throws TooManyRequests or Unavailable when too many wait. */
export async function inTurn<T>(check: () => T): Promise<T> {
  const request = { client: currentClient() }
  const release = checks.tryAcquire(request) ?? (await checks.acquire(request))
  const began = performance.now()
  try {
    return check()
  } finally {
    setTimeout(release, REST * (performance.now() - began))
  }
}
