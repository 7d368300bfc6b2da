// Splits long work on the event loop, such as walking through a large tree, into pieces. Each turn of the loop has room
// for one piece, and the clients take turns. Thus a hundred walks of one client delay the requests of other clients as
// little as one walk does. With one piece of each walk in every turn, other requests waited for four seconds.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Limiter } from '../../lib/limiter.js'
import { currentClient } from '../../lib/request-scope.js'

const turns = new Limiter({ capacity: 1 })

/** Call this after each piece of long work, which should take about 2 ms. It returns when the next piece may run. */
export const nextPiece = (): Promise<void> => turns.run({ client: currentClient() }, () => nextTurn())
