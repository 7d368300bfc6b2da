import { Forbidden } from '../../../../errors.js'

/** In `users.block_reason`: the user is the ghost (ghost-user.ts). */
export const GHOST = 'ghost'

/** The condition for `users u` that leaves the ghost out of lists and counts. */
export const NO_GHOST = `(u.block_reason is null or u.block_reason <> '${GHOST}')`

/** Throws Forbidden for the ghost, whom nobody changes, unblocks or deletes. */
export function refuseGhost(user: { readonly blockReason: string | null }): void {
  if (user.blockReason === GHOST)
    throw new Forbidden('the ghost user has the contributions of deleted users, and stays as it is')
}
