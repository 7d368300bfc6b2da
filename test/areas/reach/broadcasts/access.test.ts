import { testAccess } from '../../../access/matrix.js'
import { access as broadcasts } from './broadcasts.access.js'

testAccess([broadcasts])
