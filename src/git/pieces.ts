// Long work on the event loop, such as the walk through a large tree, is done in pieces. Each turn of the loop has room for one
// piece, and the clients take turns. So a hundred walks of one client delay the requests of others as little as one walk does;
// with a piece of each in every turn, others waited for four seconds.
import { FairLine } from '../lib/fair-line.js'
import { currentClient } from '../lib/request-scope.js'

const waiting = new FairLine<() => void>()
let isPlanned = false

/** Call it after each piece of long work, which should take some 2 ms. It returns when the next piece may run. */
export function nextPiece(): Promise<void> {
  return new Promise(resolve => {
    waiting.add(currentClient(), resolve)
    plan()
  })
}

function plan(): void {
  if (isPlanned || waiting.length === 0) return
  isPlanned = true
  setImmediate(runPiece)
}

function runPiece(): void {
  isPlanned = false
  waiting.take()?.()
  plan()
}
