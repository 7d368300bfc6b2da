// What one click in a mail ends. The area of notifications knows what people get, and fills this.
import type { Target } from '../participation/targets.js'

/** Who wants no more mail, about an issue or a merge request, or else about a whole project. */
export type Unsubscription = { readonly userId: number } & (
  | { readonly target: Target }
  | { readonly projectId: number }
)

type Unsubscribe = (what: Unsubscription) => Promise<unknown>

let fill: Unsubscribe | undefined

/** Sets what ends mail. Doing it twice must be harmless: people and programs click twice. */
export function fillUnsubscribing(unsubscribe: Unsubscribe): void {
  fill = unsubscribe
}

/** Ends the mail. Does nothing for users and targets that are gone. */
export async function unsubscribe(what: Unsubscription): Promise<void> {
  if (!fill) throw new Error('nothing ends mail: nobody has called fillUnsubscribing')
  await fill(what)
}
