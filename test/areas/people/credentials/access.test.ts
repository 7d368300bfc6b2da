import { testAccess } from '../../../access/matrix.js'
import { access as applications } from './oauth-applications.access.js'
import { access as session } from './session.access.js'
import { access as tokens } from './tokens.access.js'

testAccess([tokens, session, applications])
