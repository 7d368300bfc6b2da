import { testAccess } from '../../../access/matrix.js'
import { access as emails } from './emails.access.js'
import { access as keys } from './keys.access.js'
import { access as users } from './users.access.js'

testAccess([users, keys, emails])
