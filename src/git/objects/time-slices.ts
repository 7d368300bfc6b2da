// Long work on the event loop, such as the walk through a large tree, is done in pieces. Each turn of the loop has room for one
// piece, and the clients take turns. So a hundred walks of one client delay the requests of others as little as one walk does;
// with a piece of each in every turn, others waited for four seconds.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Limiter } from '../../lib/limiter.js'
import { currentClient } from '../../lib/request-scope.js'

const turns = new Limiter({ capacity: 1 })

/** Call it after each piece of long work, which should take some 2 ms. It returns when the next piece may run. */
export const nextPiece = (): Promise<void> => turns.run({ client: currentClient() }, () => nextTurn())
